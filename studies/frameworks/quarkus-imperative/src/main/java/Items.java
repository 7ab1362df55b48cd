import io.quarkus.panache.common.Sort;
import jakarta.transaction.Transactional;
import jakarta.ws.rs.Consumes;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.NotFoundException;
import jakarta.ws.rs.POST;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.PathParam;
import jakarta.ws.rs.Produces;
import jakarta.ws.rs.core.MediaType;
import jakarta.ws.rs.core.Response;
import java.util.List;

/** Items of a table, over HTTP: each request has a thread of its own while it lasts. */
@Path("/items")
@Produces(MediaType.APPLICATION_JSON)
@Consumes(MediaType.APPLICATION_JSON)
public class Items {
    @GET
    @Path("/{id}")
    public Item one(@PathParam("id") long id) {
        Item item = Item.findById(id);
        if (item == null) {
            throw new NotFoundException();
        }
        return item;
    }

    @GET
    public List<Item> list() {
        return Item.findAll(Sort.by("id")).page(0, 20).list();
    }

    @POST
    @Transactional
    public Response add(Item item) {
        item.id = null;
        item.persist();
        return Response.status(201).entity(item).build();
    }
}
