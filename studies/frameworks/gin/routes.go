package main

import (
	"strconv"

	"github.com/gin-gonic/gin"
	"gorm.io/gorm"
)

func routes(db *gorm.DB, inTurn bool) *gin.Engine {
	gin.SetMode(gin.ReleaseMode)
	router := gin.New()
	router.Use(gin.Recovery())
	if inTurn {
		router.Use(turns())
	}
	router.GET("/items/:id", func(c *gin.Context) {
		id, err := strconv.ParseInt(c.Param("id"), 10, 64)
		var item Item
		if err != nil || db.First(&item, id).Error != nil {
			c.Status(404)
			return
		}
		c.JSON(200, item)
	})
	router.GET("/items", func(c *gin.Context) {
		var items []Item
		db.Order("id").Limit(20).Find(&items)
		c.JSON(200, items)
	})
	router.POST("/items", func(c *gin.Context) {
		var item Item
		if c.BindJSON(&item) != nil {
			return
		}
		item.ID = 0
		if db.Create(&item).Error != nil {
			c.Status(500)
			return
		}
		c.JSON(201, item)
	})
	return router
}

// turns lets as many requests in as there are connections to the database, the one that has waited
// longest first: goroutines that wait for a channel are served in their order.
func turns() gin.HandlerFunc {
	seats := make(chan struct{}, Pool)
	return func(c *gin.Context) {
		seats <- struct{}{}
		defer func() { <-seats }()
		c.Next()
	}
}
